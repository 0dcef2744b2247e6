/* A library with debug information. */
int scale_factor = 3;

int scale(int n)
{
    int result = n * scale_factor;
    return result;
}
