/*
 * The programs here run through `point` a known number of times, and print
 * what they have counted themselves on a line that begins with "program: ".
 */
#ifndef POINT_H
#define POINT_H

/* A place that debuggers know as a function, on exactly one instruction. */
#define POINT ".globl point\n.type point,@function\npoint: "
#define POINT_END ".size point, 16\n"

#endif
