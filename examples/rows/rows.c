#include "rows.h"

#include <stdio.h>

struct row board[9];

bool board_check(void)
{
    for (int i = 0; i < 9; i++) {
        int in_row = 0;
        int in_column = 0;

        for (int j = 0; j < 9; j++) {
            int row_bit = 1 << board[i].cell[j];
            int column_bit = 1 << board[j].cell[i];

            if (row_bit != 1 && (in_row & row_bit))
                return false;
            if (column_bit != 1 && (in_column & column_bit))
                return false;
            in_row |= row_bit;
            in_column |= column_bit;
        }
    }
    return true;
}

bool board_load(const char *text)
{
    int *cells = board[0].cell;

    for (int i = 0; i < 81; i++) {
        int number = text[i] == '.' ? 0 : text[i] - '0';

        cells[i] = number;
    }
    return board_check();
}

/* Whether a number may stand in a cell. */
static bool fits(int row, int column, int number)
{
    for (int i = 0; i < 9; i++) {
        int in_box = board[row / 3 * 3 + i / 3].cell[column / 3 * 3 + i % 3];

        if (board[row].cell[i] == number || board[i].cell[column] == number
            || in_box == number)
            return false;
    }
    return true;
}

static bool solve_from(int place)
{
    if (place == 81)
        return true;

    int *cell = &board[place / 9].cell[place % 9];

    if (*cell != 0)
        return solve_from(place + 1);
    for (int number = 1; number <= 9; number++) {
        if (!fits(place / 9, place % 9, number))
            continue;
        *cell = number;
        if (solve_from(place + 1))
            return true;
        *cell = 0;
    }
    return false;
}

bool board_solve(void)
{
    return solve_from(0);
}

void board_print(void)
{
    for (int i = 0; i < 81; i++)
        printf("%d%c", board[i / 9].cell[i % 9], i % 9 == 8 ? '\n' : ' ');
}
