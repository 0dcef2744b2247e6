/*
 * Prints a menu of two courses, then the drinks, then the dessert.
 *
 *     file [MENU DRINKS]
 *
 * The courses of a menu stand one below the other, an empty line between two
 * of them; the dessert is the last one, if there is one.
 */
#include "document.h"

#include <stdio.h>

/* Prints the next course of the document. */
static void print_course(struct document *document, const char *title)
{
    char line[80];

    printf("%s:\n", title);
    while (document_read(document, line, sizeof line)) {
        if (line[0] == '\0')
            return;
        printf("    %s\n", line);
    }
#ifndef FIXED
    document_close(document); /* that was the last course */
#endif
}

int main(int argc, char **argv)
{
    const char *menu_path = argc == 3 ? argv[1] : "menu.txt";
    const char *drinks_path = argc == 3 ? argv[2] : "drinks.txt";

    struct document *menu = document_open(menu_path);
    if (menu == NULL) {
        perror(menu_path);
        return 2;
    }
    print_course(menu, "Starter");
    print_course(menu, "Main course");

    struct document *drinks = document_open(drinks_path);
    if (drinks == NULL) {
        perror(drinks_path);
        return 2;
    }
    print_course(drinks, "Wine");
    print_course(menu, "Dessert");
    print_course(drinks, "Coffee and tea");

#ifdef FIXED
    document_close(menu);
    document_close(drinks);
#endif
    document_delete(menu);
    document_delete(drinks);
    return 0;
}
