// A server that echoes lines, and its clients, in one process.
#include <asio.hpp>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

extern "C" unsigned long own_counts[16];

class connection : public std::enable_shared_from_this<connection> {
public:
    explicit connection(asio::ip::tcp::socket socket) : socket_(std::move(socket)) { own_counts[0]++; }
    ~connection() { own_counts[1]++; }
    void read()
    {
        own_counts[2]++;
        auto self = shared_from_this();
        socket_.async_read_some(asio::buffer(data_), [this, self](std::error_code error, std::size_t length) {
            if (!error)
                write(length);
        });
    }

private:
    void write(std::size_t length)
    {
        own_counts[3]++;
        auto self = shared_from_this();
        asio::async_write(socket_, asio::buffer(data_, length), [this, self](std::error_code error, std::size_t) {
            if (!error)
                read();
        });
    }
    asio::ip::tcp::socket socket_;
    char data_[256];
};

class server {
public:
    server(asio::io_context &context, int wanted)
        : acceptor_(context, asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0)), left_(wanted)
    {
        accept();
    }
    unsigned short port() const { return acceptor_.local_endpoint().port(); }

private:
    void accept()
    {
        acceptor_.async_accept([this](std::error_code error, asio::ip::tcp::socket socket) {
            if (!error)
                std::make_shared<connection>(std::move(socket))->read();
            if (--left_ > 0)
                accept();
        });
    }
    asio::ip::tcp::acceptor acceptor_;
    int left_;
};

int main()
{
    const int clients = 20, lines = 25;
    asio::io_context context;
    server served(context, clients);
    std::thread thread([&context] { context.run(); });
    int echoed = 0;
    for (int i = 0; i < clients; i++) {
        asio::io_context own;
        asio::ip::tcp::socket socket(own);
        socket.connect(asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), served.port()));
        for (int n = 0; n < lines; n++) {
            std::string line = "line " + std::to_string(n) + "\n", back(line.size(), ' ');
            asio::write(socket, asio::buffer(line));
            asio::read(socket, asio::buffer(back));
            echoed += line == back;
        }
    }
    thread.join();
    std::printf("%d echoed\n", echoed);
    return echoed == clients * lines ? 0 : 1;
}
