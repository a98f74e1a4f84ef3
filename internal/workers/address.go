package workers

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/input"
	"redlocksim/internal/printable"
	"redlocksim/internal/redisaddr"
	"redlocksim/internal/resp"
)

// PasswordVariable is the environment variable with the password of the Redis.
const PasswordVariable = "REDLOCKSIM_REDIS_PASSWORD"

// PasswordFileVariable is that with the name of a file that has it.
const PasswordFileVariable = "REDLOCKSIM_REDIS_PASSWORD_FILE"

// maxPassword bounds the file of a password, in bytes.
const maxPassword = 64 << 10

// dialTimeout is how long a connection may take to make, unless the address says otherwise with dial_timeout.
const dialTimeout = 5 * time.Second

// Address is a Redis for jobs.
type Address struct {
	options *redis.Options
	prefix  string // of the names of queues and keys
}

// ParseAddress reads redis://[USER@]HOST[:PORT][/DATABASE][?prefix=PREFIX], rediss:// for TLS, or unix://. The password
// comes from the environment: in an argument others would see it.
func ParseAddress(text string) (Address, error) {
	if err := redisaddr.Check(text); err != nil {
		return Address{}, err
	}
	u, err := url.Parse(text)
	if err != nil {
		return Address{}, err
	}
	if _, has := u.User.Password(); has {
		return Address{}, fmt.Errorf("the address has a password in it, which others could read: put it into %s or, in a file, into %s", PasswordVariable, PasswordFileVariable)
	}
	query := u.Query()
	a := Address{prefix: query.Get("prefix")}
	if strings.ContainsAny(a.prefix, "{} \t\n") {
		return Address{}, fmt.Errorf("the prefix %q has braces or white space in it", a.prefix)
	}
	query.Del("prefix")
	u.RawQuery = query.Encode()
	if a.options, err = redis.ParseURL(u.String()); err != nil {
		return Address{}, fmt.Errorf("%w; want redis://HOST:PORT", err)
	}
	if a.options.Password, err = password(); err != nil {
		return Address{}, err
	}
	if a.options.DialTimeout == 0 {
		a.options.DialTimeout = dialTimeout
	}
	a.options.Dialer = resp.Dialer(redis.NewDialer(a.options), resp.Jobs)
	return a, nil
}

func password() (string, error) {
	file := os.Getenv(PasswordFileVariable)
	if file == "" {
		return os.Getenv(PasswordVariable), nil
	}
	data, err := input.ReadFile(file, maxPassword)
	if err != nil {
		return "", fmt.Errorf("%s: %w", PasswordFileVariable, err)
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

// String is where the Redis is, without user and password.
func (a Address) String() string { return a.options.Addr }

// failed is what went wrong there, which the Redis may say.
func (a Address) failed(err error) error {
	return fmt.Errorf("%v: %s", a, printable.Text(err.Error(), maxTold))
}

// key is one of this program.
func (a Address) key(parts ...string) string {
	return a.prefix + "redlocksim:" + strings.Join(parts, ":")
}

// queue is that of a build, and present has who is there, of all builds.
func (a Address) queue(build string) string { return a.key("queue", build) }
func (a Address) present() string           { return a.key("present") }

// batch is a batch of jobs, result what came of a chunk of it, and told the channel that tells of that.
func (a Address) batch(id string) string          { return a.key("batch", id) }
func (a Address) result(id, number string) string { return a.key("result", id, number) }
func (a Address) told(id string) string           { return a.key("told", id) }

// file is a file that jobs share.
func (a Address) file(hash string) string { return a.key("file", hash) }

// Quiet has go-redis, throughout this program, not log what a pool or a worker tells anyway.
func Quiet() { redis.SetLogger(silence{}) }

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}
