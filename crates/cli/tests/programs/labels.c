/* Labels, also one in a block. */
int work(int n)
{
    int total = 0;
again:
    total += n;
    if (--n > 0)
        goto again;
    {
        static int deep = 3;
    inner:
        total += deep;
        if (total < 8)
            goto inner;
    }
    return total;
}

int main(void)
{
    return work(3) != 9;
}
