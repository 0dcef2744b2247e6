/* A sudoku board, row by row, and a solver. */
#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>

#ifdef FIXED
#define ROW_CELLS 9
#else
#define ROW_CELLS 10
#endif

struct row {
    int cell[ROW_CELLS];
};

extern struct row board[9];

/* Reads 81 characters, a digit or a dot each; false when they break the rules. */
bool board_load(const char *text);
/* Whether no number stands twice in a row or a column. */
bool board_check(void);
/* Fills the free cells, with another try where there is no way on; false when there is
   no solution. */
bool board_solve(void);
void board_print(void);

#endif
