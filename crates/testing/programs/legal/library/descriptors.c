/* Descriptors that are copied, replaced and closed in every way. The file `created` of the
 * working directory is made. */
#define _GNU_SOURCE
#include "use.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int null(void)
{
    return open("/dev/null", O_RDWR);
}

static void a_copy(void)
{
    int first = null();
    int second = dup(first);

    close(first);
    close(second);
    second = fcntl(1, F_DUPFD, 50);
    close(second);
}

static void a_copy_over_itself(void)
{
    int file = null();

    dup2(file, file);
    close(file);
}

static void a_copy_over_another(void)
{
    int first = null();
    int second = open("/dev/zero", O_RDONLY);

    dup2(second, first);
    close(second);
    close(first);
    first = null();
    close(dup2(first, 20));
    close(dup3(first, 21, O_CLOEXEC));
    close(first);
}

static void pairs(void)
{
    int ends[2];

    close(null());
    if (pipe(ends) == 0) {
        close(ends[0]);
        close(ends[1]);
    }
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) {
        close(ends[0]);
        close(ends[1]);
    }
}

static void many_at_once(void)
{
    int first = null();
    int last = null();

    syscall(SYS_close_range, first, last, 0);
    first = null();
    /* Marks it for the next program only. */
    syscall(SYS_close_range, first, first, 4);
    close(first);
}

static void a_child_closes_too(void)
{
    int file = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pid_t child = fork();

    if (child == 0) {
        close(file);
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    close(file);
}

static void a_mapping_stays(void)
{
    int file = creat("created", 0600);

    if (write(file, "text", 4) != 4)
        abort();
    close(file);
    file = openat(AT_FDCWD, "created", O_RDONLY);
    void *memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (memory != MAP_FAILED)
        munmap(memory, 4096);
}

static void what_is_no_descriptor(void)
{
    if (close(-1) == 0 || close(999) == 0 || open("/nonexistent/file", O_RDONLY) >= 0)
        abort();
    close(null());
}

static void the_standard_input(void)
{
    close(0);
    /* It is 0 now. */
    close(null());
}

int main(void)
{
    USE(a_copy);
    USE(a_copy_over_itself);
    USE(a_copy_over_another);
    USE(pairs);
    USE(many_at_once);
    USE(a_child_closes_too);
    USE(a_mapping_stays);
    USE(what_is_no_descriptor);
    USE(the_standard_input);
    return end_of_uses();
}
