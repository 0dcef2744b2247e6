/* Documents of several kinds and lives. The file `lines` of the working directory is made. */
#include "document.h"
#include "use.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int lines_of(struct document *document)
{
    char line[8];
    int count = 0;

    while (document_read(document, line, sizeof line))
        count++;
    return count;
}

static void end(struct document *document)
{
    document_close(document);
    document_delete(document);
}

static void read_to_the_end(void)
{
    struct document *document = document_open("lines");

    if (lines_of(document) != 3)
        abort();
    /* There is no more, and one may ask. */
    if (lines_of(document) != 0)
        abort();
    end(document);
}

static void an_empty_document(void)
{
    struct document *document = document_open("/dev/null");

    if (lines_of(document) != 0)
        abort();
    end(document);
}

static void no_such_document(void)
{
    for (int i = 0; i < 3; i++)
        if (document_open("/nonexistent/file") != NULL)
            abort();
    document_delete(NULL);
}

static void a_directory(void)
{
    struct document *document = document_open("/");

    if (lines_of(document) != 0)
        abort();
    end(document);
}

static void opened_and_not_read(void)
{
    end(document_open("lines"));
}

static void the_same_file_twice(void)
{
    struct document *first = document_open("lines");
    struct document *second = document_open("lines");

    document_close(first);
    if (lines_of(second) != 3)
        abort();
    document_delete(first);
    end(second);
}

static void one_address_again_and_again(void)
{
    for (int i = 0; i < 5; i++) {
        struct document *document = document_open("lines");

        lines_of(document);
        end(document);
    }
}

static void deeper(struct document *document, int depth)
{
    char line[8];
    struct document *inner = document_open("lines");

    if (depth > 0)
        deeper(inner, depth - 1);
    document_read(document, line, sizeof line);
    end(inner);
}

static void one_in_each_call(void)
{
    struct document *document = document_open("lines");

    deeper(document, 4);
    end(document);
}

static void *read_it(void *document)
{
    lines_of(document);
    return NULL;
}

static void another_thread_reads(void)
{
    for (int i = 0; i < 3; i++) {
        struct document *document = document_open("lines");
        pthread_t thread;

        pthread_create(&thread, NULL, read_it, document);
        pthread_join(thread, NULL);
        end(document);
    }
}

static struct document *handled;

static void read_in_handler(int signal)
{
    char line[8];

    (void)signal;
    document_read(handled, line, sizeof line);
}

static void a_handler_reads(void)
{
    handled = document_open("lines");
    signal(SIGUSR1, read_in_handler);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_IGN);
    end(handled);
}

static void the_child_closes_its_own(void)
{
    struct document *document = document_open("lines");
    pid_t child = fork();

    if (child == 0) {
        end(document);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    lines_of(document);
    end(document);
}

static void never_closed(void)
{
    lines_of(document_open("lines"));
    exit(0);
}

int main(void)
{
    FILE *lines = fopen("lines", "w");

    if (lines == NULL)
        return 1;
    fputs("one\n\nthe last is too long", lines);
    fclose(lines);
    USE(read_to_the_end);
    USE(an_empty_document);
    USE(no_such_document);
    USE(a_directory);
    USE(opened_and_not_read);
    USE(the_same_file_twice);
    USE(one_address_again_and_again);
    USE(one_in_each_call);
    USE(another_thread_reads);
    USE(a_handler_reads);
    USE(the_child_closes_its_own);
    LAST_USE(never_closed);
}
