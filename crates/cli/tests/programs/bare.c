/* A function without rules for its frame, as in hand-written assembly. */
int reached;
int bare(void);
__asm__(".text\n"
        ".type bare, @function\n"
        "bare: nop\n"
        "movl $7, %eax\n"
        "ret\n"
        ".size bare, .-bare\n");

int outer(int n) {
    reached = bare() + n;
    return reached;
}

int main(void) {
    return outer(1) - 8;
}
