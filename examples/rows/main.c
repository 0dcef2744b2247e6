/* Solves a sudoku. */
#include "rows.h"

#include <stdio.h>

int main(void)
{
    const char *text = "53..7...."
                       "6..195..."
                       ".98....6."
                       "8...6...3"
                       "4..8.3..1"
                       "7...2...6"
                       ".6....28."
                       "...419..5"
                       "....8..79";

    if (!board_load(text)) {
        puts("bad board");
        return 1;
    }
    if (!board_solve()) {
        puts("no solution");
        return 1;
    }
    board_print();
    return 0;
}
