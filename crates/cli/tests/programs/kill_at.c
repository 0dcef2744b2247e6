/* Preloaded into a tracer: kills it before its requests to the kernel about the process that it
 * traces have had their effect: before the one with the number in KILL_AT, or before it writes the
 * first trap. In the second case the file named in REACHED is made. The processes that the tracer
 * makes are left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static pid_t tracer;
static long count, end;

__attribute__((constructor)) static void begin(void)
{
    const char *number = getenv("KILL_AT");

    tracer = getpid();
    end = number ? atol(number) : 0;
}

static void end_tracer(void)
{
    kill(tracer, SIGKILL);
    for (;;)
        pause();
}

static void note(int is_trap)
{
    const char *path = getenv("REACHED");

    if (getpid() != tracer || end == 0)
        return;
    if (++count == end)
        end_tracer();
    if (is_trap) {
        if (path && open(path, O_WRONLY | O_CREAT, 0600) < 0)
            abort();
        end_tracer();
    }
}

long ptrace(int request, ...)
{
    long (*real)(int, ...) = (long (*)(int, ...))dlsym(RTLD_NEXT, "ptrace");
    va_list rest;
    pid_t process;
    void *address, *data;

    va_start(rest, request);
    process = va_arg(rest, pid_t);
    address = va_arg(rest, void *);
    data = va_arg(rest, void *);
    va_end(rest);
    note(0);
    return real(request, process, address, data);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset)
{
    ssize_t (*real)(int, const void *, size_t, off64_t) =
        (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");

    note(length == 1 && *(const unsigned char *)bytes == 0xcc);
    return real(file, bytes, length, offset);
}
