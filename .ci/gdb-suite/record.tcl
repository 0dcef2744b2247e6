# Evaluates one test of gdb's own suite without gdb and DejaGnu, and prints what the test
# would build and type, one action a line:
#
#     tclsh record.tcl SUITE DIRECTORY NAME
#
#     build OUTPUT \t SOURCE... \t OPTIONS
#     start OUTPUT
#     type COMMAND
#
# The procedures below have the names that the tests call. Whatever is not among them answers 0, so
# that a test goes on.

lassign $argv suite subdir test_name
set srcdir $suite
set objdir /nowhere
set gdb_prompt {\(gdb\)}
set gdb_test_file_name $test_name
set decimal {[0-9]+}
set hex {0x[0-9a-f]+}
set octal {[0-7]+}
set inferior_exited_re {exited}
set valnum_re {\$[0-9]+}
set pf_prefix ""
set timeout 10
set GDBFLAGS ""
set INTERNAL_GDBFLAGS ""
set hp_aCC_compiler 0
set compiler_info gcc-12-2-0
set gcc_compiled 12
set has_exited 0
set binfile $test_name
set testfile $test_name
set srcfile $test_name.c

# A loop that waits for an answer of gdb would not end.
set actions_left 2000
proc emit {action args} {
    if {[incr ::actions_left -1] < 0} { flush stdout; real_exit 0 }
    foreach part $args { append action " " [string map {\n " " \t " "} $part] \t }
    puts [string trimright $action]
}
proc command {line} {
    foreach one [split [string trim $line "\n"] "\n"] {
        if {[string trim $one] ne ""} { emit type $one }
    }
    return 0
}

proc source_of {testfile} {
    global suite subdir
    foreach extension {.c .cc .cpp .rs .S} {
        if {[file exists $suite/$subdir/$testfile$extension]} { return $testfile$extension }
    }
    return $testfile.c
}

proc standard_testfile {args} {
    global gdb_test_file_name
    foreach name {testfile binfile srcfile srcfile2 srcfile3 srcfile4 srcfile5} { upvar 1 $name $name }
    set testfile $gdb_test_file_name
    set binfile $testfile
    set srcfile [source_of $testfile]
    set number ""
    foreach argument $args {
        if {$argument ne ""} {
            set name srcfile$number
            if {[string match .* $argument]} { set argument $testfile$argument }
            set $name $argument
        }
        set number [expr {$number eq "" ? 2 : $number + 1}]
    }
}
proc standard_output_file {name} { return [file tail $name] }
proc standard_temp_file {name} { return [file tail $name] }

proc build_executable {message output {sources {}} {options {debug}}} {
    if {$sources eq {}} { set sources [list [source_of $output]] }
    emit build [file tail $output] $sources $options
    return 0
}
proc build_executable_from_specs {message output options args} {
    set sources {}
    foreach {one its_options} $args { lappend sources $one }
    return [build_executable $message $output $sources $options]
}
proc prepare_for_testing {message {output {}} {sources {}} {options {debug}}} {
    if {$output eq {}} { set output $::testfile }
    if {$sources eq {} && [info exists ::srcfile]} { set sources [list $::srcfile] }
    build_executable $message $output $sources $options
    emit start [file tail $output]
    return 0
}
proc prepare_for_testing_full {message arguments} {
    set sources {}
    foreach {one its_options} [lrange $arguments 2 end] { lappend sources $one }
    return [prepare_for_testing $message [lindex $arguments 0] $sources [lindex $arguments 1]]
}
proc gdb_compile {sources output kind options} {
    if {$kind eq "executable"} {
        set names {}
        foreach one $sources { lappend names [file tail $one] }
        build_executable "" $output $names $options
        return ""
    }
    return "only executables are built"
}
proc gdb_compile_pthreads {sources output kind options} {
    return [gdb_compile $sources $output $kind [concat $options pthreads]]
}
proc clean_restart {{output {}}} {
    if {$output eq {}} { set output $::binfile }
    emit start [file tail $output]
}
proc gdb_load {output} { emit start [file tail $output]; return 0 }
proc gdb_start {args} { return 0 }
proc gdb_exit {args} { return 0 }

# Returns the command of a call without the options before it.
proc command_of {arguments} {
    while {[string match -* [lindex $arguments 0]]} {
        set arguments [lrange $arguments [expr {[lindex $arguments 0] eq "-prompt" ? 2 : 1}] end]
    }
    return [lindex $arguments 0]
}
proc gdb_test {args} { return [command [command_of $args]] }
proc gdb_test_no_output {args} { return [command [command_of $args]] }
proc gdb_test_multiple {line args} { return [command $line] }
proc gdb_test_sequence {line args} { return [command $line] }
proc gdb_test_exact {line args} { return [command $line] }
proc gdb_test_list_exact {line args} { return [command $line] }
proc gdb_test_stdio {line args} { return [command $line] }
proc gdb_test_lines {line args} { return [command $line] }
proc send_gdb {text args} { command $text }
proc gdb_breakpoint {place args} {
    command [expr {"temporary" in $args ? "tbreak $place" : "break $place"}]
    return 1
}
proc runto {place args} { command "tbreak $place"; command run; return 1 }
proc runto_main {args} { return [runto main] }
proc gdb_run_cmd {args} { command run; return 0 }
proc gdb_continue {args} { command continue; return 0 }
proc gdb_continue_to_breakpoint {args} { return [command continue] }
proc gdb_continue_to_end {args} { return [command continue] }
proc delete_breakpoints {args} { command delete }
proc tbreak_and_cont {place} { command "tbreak $place"; command continue }
proc cp_test_ptype_class {type args} { return [command "ptype $type"] }
proc print_addr {args} { return 0 }
proc get_valueof {fmt expression default args} { return $default }
proc get_integer_valueof {expression default args} { return $default }
proc get_hexadecimal_valueof {expression default args} { return $default }
proc get_sizeof {type default} { return $default }

proc gdb_get_line_number {text {name {}}} {
    global suite subdir
    if {$name eq {}} { set name $::srcfile }
    set path [expr {[string match /* $name] ? $name : "$suite/$subdir/$name"}]
    if {[catch {open $path} file]} { return -1 }
    set number 0
    while {[gets $file line] >= 0} {
        incr number
        if {[string first $text $line] >= 0} { close $file; return $number }
    }
    close $file
    return -1
}
proc gdb_get_line_number_in_file {text name} { return [gdb_get_line_number $text $name] }

proc with_test_prefix {prefix body} { return [uplevel 1 $body] }
proc foreach_with_prefix {name values body} { uplevel 1 [list foreach $name $values $body] }
proc proc_with_prefix {name arguments body} { uplevel #0 [list proc $name $arguments $body] }
proc gdb_caching_proc {name body} { uplevel #0 [list proc $name {} $body] }
proc save_vars {names body} { return [uplevel 1 $body] }
proc with_timeout_factor {factor body} { return [uplevel 1 $body] }
proc with_complaints {count body} { return [uplevel 1 $body] }
proc with_gdb_cwd {directory body} { return [uplevel 1 $body] }
proc with_cwd {directory body} { return [uplevel 1 $body] }

proc istarget {pattern} { return [string match $pattern x86_64-pc-linux-gnu] }
proc ishost {pattern} { return [istarget $pattern] }
proc isnative {} { return 1 }
proc is_amd64_regs_target {} { return 1 }
proc is_x86_like_target {} { return 1 }
proc is_lp64_target {} { return 1 }
proc test_compiler_info {args} {
    if {$args eq {}} { return 1 }
    return [string match [lindex $args 0] gcc-12-2-0]
}
proc supports_process_record {} { return 0 }
proc target_info {args} { return [expr {[lindex $args 0] eq "exists" ? 0 : ""}] }
proc target_supports_scheduler_locking {} { return 1 }
proc allow_cplus_tests {} { return 1 }
proc can_hardware_watchpoint {args} { return 1 }
proc string_to_regexp {text} { return $text }
proc string_list_to_regexp {args} { return $args }
proc multi_line {args} { return $args }
proc gdb_remote_download {where source args} { return $source }
proc shlib_target_file {name} { return $name }
proc load_lib {args} { return 0 }
proc gdb_expect {args} { return 0 }
rename exit real_exit
proc exit {args} { return -code return }
rename source source_file
proc source {args} { return 0 }
# A test does not run programs of its own accord.
foreach name {exec open} { rename $name real_$name }
proc exec {args} { error "not here" }
proc open {path {access r} args} {
    if {$access ne "r" || [string match |* $path]} { error "not here" }
    return [real_open $path r]
}
rename file real_file
proc file {what args} {
    # A test copies and deletes files: it may only ask for them.
    if {$what ni {dirname exists extension isdirectory isfile join normalize readable rootname size split tail}} {
        error "not here"
    }
    return [real_file $what {*}$args]
}
proc cd {args} { error "not here" }
proc unknown {args} { return 0 }

proc main {} {
    global suite subdir test_name
    catch {uplevel #0 [list source_file $suite/$subdir/$test_name.exp]}
}
main
