//! Calls that the program notes itself while it is recorded.

use super::{check_again, program, recorded, recorded_with};
use juror_testing::Fixture;

#[test]
fn calls_that_a_program_notes_itself_are_told_again() {
    for argument in ["-O1", "-static"] {
        let executable = program("own_calls.c").argument(argument).compile_plain();
        let run = recorded(&executable, &[], "", 0);
        for words in ["child 7, command 4\n", "from the pipe p\n", "missing 2, "] {
            assert!(run.text.contains(words), "{words}: {}", run.text);
        }
        check_again(&run, 0);
    }
}

#[test]
fn calls_that_all_stop_are_told_again() {
    let executable = program("own_calls.c").compile_plain();
    check_again(&recorded_with(&["--by-stops"], &executable, &[], "", 0), 0);
}

/// A million calls take 20 seconds if each stops.
#[test]
fn a_million_calls_are_noted() {
    let source = "#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
int main(void) {
    struct timespec now;
    for (int i = 0; i < 1000000; i++) clock_gettime(CLOCK_REALTIME, &now);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    puts(usage.ru_nvcsw < 10000 ? \"few stops\" : \"many stops\");
    return 0;
}";
    let executable = Fixture::c("a_million_calls", source).compile_plain();
    let run = recorded(&executable, &[], "", 0);
    assert!(run.text.contains("few stops\n"), "{}", run.text);
}

#[test]
fn a_program_that_spoils_the_notes_is_recorded_up_to_there() {
    let source = "#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) {
    char line[200];
    unsigned long start = 0;
    FILE *maps = fopen(\"/proc/self/maps\", \"r\");
    while (fgets(line, sizeof line, maps))
        if (strstr(line, \"memfd:juror\")) start = strtoul(line, NULL, 16);
    fclose(maps);
    getppid();
    if (start) memset((void *)(start + 4096), 0x5a, 600);
    puts(start ? \"spoiled\" : \"no notes\");
    return 0;
}";
    let executable = Fixture::c("spoils_the_notes", source).compile_plain();
    let run = recorded(&executable, &[], "", 0);
    assert!(run.text.contains("spoiled\n"), "{}", run.text);
    let file = run.file.display().to_string();
    let output = crate::support::juror(&["replay", "--batch", &file]).run();
    let words = "the program has overwritten the memory in which it notes its calls";
    let said = format!("{}{}", output.stdout, output.stderr);
    assert!(said.contains(words), "{said}");
}
