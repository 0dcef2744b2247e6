/* A sudoku board. */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>

/* By row and column; 0 is empty. */
extern int board[81];

/* Reads 81 characters, a digit or a dot each. */
bool board_load(const char *text);
/* Fills the empty cells; false when there is no way to. */
bool board_solve(void);
void board_print(void);

#endif
