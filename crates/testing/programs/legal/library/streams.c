/* Streams from every function that opens one. */
#define _GNU_SOURCE
#include "use.h"

#include <mntent.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

static void files_again_and_again(void)
{
    for (int i = 0; i < 50; i++)
        fclose(fopen("/dev/null", "r"));
}

static void a_file_that_is_not_there(void)
{
    if (fopen("/nonexistent/file", "r") != NULL)
        abort();
}

static void another_file_for_a_stream(void)
{
    FILE *stream = fopen("/dev/null", "w");

    fputs("x", stream);
    stream = freopen("/dev/zero", "r", stream);
    stream = freopen(NULL, "r", stream);
    if (stream != NULL)
        fclose(stream);
}

static void a_stream_of_a_descriptor(void)
{
    FILE *stream = tmpfile();
    int descriptor = dup(fileno(stream));

    fclose(stream);
    stream = fdopen(descriptor, "r+");
    fclose(stream);
}

static void commands(void)
{
    char buffer[9];

    for (int i = 0; i < 3; i++) {
        FILE *command = popen("echo text", "r");

        while (fread(buffer, 1, sizeof buffer, command) > 0)
            continue;
        pclose(command);
    }
}

static void streams_in_memory(void)
{
    char *text = NULL;
    wchar_t *wide = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    fprintf(stream, "abc");
    fclose(stream);
    free(text);
    stream = open_wmemstream(&wide, &size);
    fwprintf(stream, L"abc");
    fclose(stream);
    free(wide);
    stream = fmemopen(NULL, 64, "w+");
    fclose(stream);
}

static void a_stream_of_functions(void)
{
    cookie_io_functions_t nothing = {NULL, NULL, NULL, NULL};
    FILE *stream = fopencookie(NULL, "w", nothing);

    fputs("x", stream);
    fclose(stream);
}

static void a_full_device(void)
{
    FILE *stream = fopen("/dev/full", "w");

    fputs("x", stream);
    /* Closed, although it says that something went wrong. */
    if (fclose(stream) == 0)
        abort();
}

/* Functions that open streams of their own. */
static void streams_of_the_library(void)
{
    FILE *mounts = setmntent("/proc/self/mounts", "r");

    if (mounts != NULL) {
        getmntent(mounts);
        endmntent(mounts);
    }
    for (int i = 0; i < 2; i++) {
        setpwent();
        getpwent();
        endpwent();
    }
    getpwuid(0);
}

static void two_at_once_in_either_order(void)
{
    FILE *first = fopen("/dev/null", "r");
    FILE *second = fopen("/dev/null", "r");

    fclose(first);
    first = fopen("/dev/null", "r");
    fclose(second);
    fclose(first);
}

static void the_standard_input(void)
{
    fclose(stdin);
    fclose(fopen("/dev/null", "r"));
}

static void all_streams(void)
{
    fcloseall();
    exit(0);
}

int main(void)
{
    USE(files_again_and_again);
    USE(a_file_that_is_not_there);
    USE(another_file_for_a_stream);
    USE(a_stream_of_a_descriptor);
    USE(commands);
    USE(streams_in_memory);
    USE(a_stream_of_functions);
    USE(a_full_device);
    USE(streams_of_the_library);
    USE(two_at_once_in_either_order);
    USE(the_standard_input);
    LAST_USE(all_streams);
}
