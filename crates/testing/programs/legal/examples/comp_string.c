/* Words to complete, with a variable that is null for a while. */
#include "use.h"

#include <ctype.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static const char *itype_end(const char *ptr)
{
    while (isalnum((unsigned char)*ptr) || *ptr == '-')
        ptr++;
    return ptr;
}

/* The length of the last word of a line; `+` begins a line within the line. */
__attribute__((noinline)) static int get_comp_string(const char *line)
{
    const char *s = line;

    for (const char *at = line; *at != '\0'; at++) {
        if (*at == '!')
            s = NULL;
        else if (*at == ' ' || s == NULL)
            s = at + 1;
        if (*at == '+')
            return get_comp_string(at + 1);
    }
    if (s == NULL)
        return 0;
    return (int)(itype_end(s) - s);
}

static void expect(const char *line, int length)
{
    if (get_comp_string(line) != length)
        abort();
}

static void one_word(void)
{
    expect("men", 3);
}

static void nothing(void)
{
    expect("", 0);
    expect(" ", 0);
}

static void the_last_of_many(void)
{
    expect("git commit --amend", 7);
}

static void null_and_not_used(void)
{
    expect("cat men!", 0);
    expect("cat men!", 0);
}

static void null_for_a_while(void)
{
    expect("!a !b cat", 3);
}

static void null_in_one_call_and_not_in_the_next(void)
{
    for (int i = 0; i < 5; i++) {
        expect("men!", 0);
        expect("men", 3);
    }
}

static void one_call_within_the_other(void)
{
    expect("cat! +men", 3);
    expect("cat +men! +word", 4);
}

static void used_elsewhere(void)
{
    expect("cat!", 0);
    if (*itype_end("word ") != ' ')
        abort();
}

static void the_child_has_its_own(void)
{
    pid_t child = fork();

    expect(child == 0 ? "cat!" : "cat", child == 0 ? 0 : 3);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}

static void the_end_without_a_word(void)
{
    expect("cat!", 0);
    exit(0);
}

int main(void)
{
    USE(one_word);
    USE(nothing);
    USE(the_last_of_many);
    USE(null_and_not_used);
    USE(null_for_a_while);
    USE(null_in_one_call_and_not_in_the_next);
    USE(one_call_within_the_other);
    USE(used_elsewhere);
    USE(the_child_has_its_own);
    LAST_USE(the_end_without_a_word);
}
