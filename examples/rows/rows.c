#include "rows.h"

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
