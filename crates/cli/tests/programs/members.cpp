/* A member function changes a field and a global variable; so does its caller. */
static int all;

struct Counter {
    int own = 0;
    int silent(int by)
    {
        own += by;
        all += by;
        return own;
    }
};

int main()
{
    Counter counter;
    int sum = counter.silent(2);
    counter.own++;
    all++;
    return sum + all == 5 ? 0 : 1;
}
