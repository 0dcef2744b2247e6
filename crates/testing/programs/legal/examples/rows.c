/* Boards with solutions that are loaded, checked and solved. */
#include "boards.h"
#include "rows.h"
#include "use.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect(bool is_so)
{
    if (!is_so)
        abort();
}

static void checked_before_it_is_loaded(void)
{
    expect(board_check());
}

static void loaded_twice(void)
{
    expect(board_load(USUAL));
    expect(board_load(EMPTY));
    expect(board_load(USUAL));
}

static void solved(void)
{
    expect(board_solve());
    expect(board_check());
}

static void solved_twice(void)
{
    expect(board_solve());
    expect(board_solve());
}

static void a_solved_board(void)
{
    expect(board_load(SOLVED));
    expect(board_solve());
}

static void one_board_after_the_other(void)
{
    for (int i = 0; i < 3; i++) {
        expect(board_load(USUAL));
        expect(board_solve());
    }
}

static void the_child_has_its_own(void)
{
    pid_t child = fork();

    if (child == 0) {
        expect(!board_load("11......."
                           EMPTY));
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static void not_solved_at_the_end(void)
{
    expect(board_load(EMPTY));
    exit(0);
}

int main(void)
{
    USE(checked_before_it_is_loaded);
    USE(loaded_twice);
    USE(solved);
    USE(solved_twice);
    USE(a_solved_board);
    USE(one_board_after_the_other);
    USE(the_child_has_its_own);
    LAST_USE(not_solved_at_the_end);
}
