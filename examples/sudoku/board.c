#include "board.h"

#include <stdio.h>

int board[81];

bool board_load(const char *text)
{
    for (int cell = 0; cell < 81; cell++) {
        char c = text[cell];

        if (c != '.' && (c < '1' || c > '9'))
            return false;
        board[cell] = c == '.' ? 0 : c - '0';
    }
    return true;
}

/* Whether a number may stand in a cell. */
static bool fits(int cell, int number)
{
    int row = cell / 9;
    int column = cell % 9;
#ifdef FIXED
    int box = row / 3 * 27 + column / 3 * 3;
#else
    int box = row / 3 * 27 + column / 3;
#endif

    for (int i = 0; i < 9; i++) {
        if (board[row * 9 + i] == number || board[i * 9 + column] == number
            || board[box + i / 3 * 9 + i % 3] == number)
            return false;
    }
    return true;
}

static bool solve_from(int cell)
{
    while (cell < 81 && board[cell] != 0)
        cell++;
    if (cell == 81)
        return true;
    for (int number = 1; number <= 9; number++) {
        if (!fits(cell, number))
            continue;
        board[cell] = number;
        if (solve_from(cell + 1))
            return true;
        board[cell] = 0;
    }
    return false;
}

bool board_solve(void)
{
    return solve_from(0);
}

void board_print(void)
{
    for (int cell = 0; cell < 81; cell++)
        printf("%d%c", board[cell], cell % 9 == 8 ? '\n' : ' ');
}
