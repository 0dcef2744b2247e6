/* Boards that are loaded and solved: or loaded again, or not solved. */
#include "board.h"
#include "boards.h"
#include "use.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The board with rows, columns and boxes the other way round. */
static char reversed[82];

static void expect(bool is_so)
{
    if (!is_so)
        abort();
}

static void no_board(void)
{
    expect(!board_load(""));
    expect(!board_load("0"));
    expect(!board_load("53x"));
}

static void two_boards_and_only_the_last_solved(void)
{
    expect(board_load(ALMOST));
    expect(board_load(reversed));
    expect(board_load(ALMOST));
}

static void no_board_after_a_board(void)
{
    expect(!board_load("44"));
    expect(board_load(reversed));
    expect(!board_load("12"));
}

static void a_board_without_a_solution(void)
{
    /* The first row needs a 9, which is in its last column already. */
    char text[82] = EMPTY;

    memcpy(text, "12345678.", 9);
    text[17] = '9';
    expect(board_load(text));
    expect(!board_solve());
}

static void an_open_board(void)
{
    expect(board_load(ALMOST));
    expect(board_solve());
}

static void a_solved_board(void)
{
    expect(board_load(SOLVED));
    expect(board_solve());
}

static void solved_twice(void)
{
    expect(board_load(ALMOST));
    expect(board_solve());
    expect(board_solve());
}

static void one_board_after_the_other(void)
{
    expect(board_load(reversed));
    expect(board_solve());
    expect(board_load(ALMOST));
    expect(board_solve());
}

static void the_child_has_its_own(void)
{
    pid_t child = fork();

    if (child == 0) {
        board[0] = board[1];
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void not_solved_at_the_end(void)
{
    expect(board_load(ALMOST));
    exit(0);
}

int main(void)
{
    const char *almost = ALMOST;

    for (int cell = 0; cell < 81; cell++)
        reversed[cell] = almost[80 - cell];
    USE(no_board);
    USE(two_boards_and_only_the_last_solved);
    USE(no_board_after_a_board);
    USE(a_board_without_a_solution);
    USE(an_open_board);
    USE(a_solved_board);
    USE(solved_twice);
    USE(one_board_after_the_other);
    USE(the_child_has_its_own);
    LAST_USE(not_solved_at_the_end);
}
