/* Words that are found, and used only where there is one. */
#include "use.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect(const char *line, const char *expected)
{
    find_word(line);
    if (word == NULL) {
        if (expected != NULL)
            abort();
        return;
    }
    if ((size_t)(name_end(word) - word) != strlen(expected))
        abort();
}

static void one_word(void)
{
    expect("menu.txt", "menu.txt");
}

static void nothing(void)
{
    expect("", "");
    expect("cat ", "");
}

static void the_last_of_many(void)
{
    expect("git add main.c", "main.c");
}

static void behind_a_redirection(void)
{
    expect("cat < men", "men");
    expect("a > b < c", "c");
}

static void no_word(void)
{
    expect("cat >", NULL);
    expect("<>", NULL);
}

static void no_word_and_then_one(void)
{
    for (int i = 0; i < 5; i++) {
        expect("cat >", NULL);
        expect("cat > a", "a");
    }
}

static void searched_and_not_looked_at(void)
{
    find_word("cat");
    find_word("cat >");
    find_word("cat");
}

static void set_by_hand(void)
{
    const char *line = "word";

    expect("cat >", NULL);
    word = line;
    if (name_end(word) != line + 4)
        abort();
    word = NULL;
}

static void looked_at_elsewhere(void)
{
    expect("cat >", NULL);
    if (*name_end("other ") != ' ')
        abort();
}

static void the_child_has_its_own(void)
{
    pid_t child = fork();

    if (child == 0) {
        expect("cat >", NULL);
        _exit(0);
    }
    expect("cat", "cat");
    waitpid(child, NULL, 0);
}

static void the_end_without_a_word(void)
{
    expect("cat >", NULL);
    exit(0);
}

int main(void)
{
    USE(one_word);
    USE(nothing);
    USE(the_last_of_many);
    USE(behind_a_redirection);
    USE(no_word);
    USE(no_word_and_then_one);
    USE(searched_and_not_looked_at);
    USE(set_by_hand);
    USE(looked_at_elsewhere);
    USE(the_child_has_its_own);
    LAST_USE(the_end_without_a_word);
}
