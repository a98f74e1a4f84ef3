package resp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
)

// follow has the frames take the bytes in pieces of so many, and says how many were good before what was refused.
func follow(sent string, piece, limit int) (good int, refused error) {
	f := newFrames(limit)
	for len(sent) > 0 {
		n, err := f.take([]byte(sent[:min(piece, len(sent))]))
		good += n
		if err != nil {
			return good, err
		}
		sent = sent[n:]
	}
	return good, nil
}

const testLimit = 10_000

func TestFrames(t *testing.T) {
	const (
		fine     = ""
		tooLarge = "and a reply may take"
		tooDeep  = "levels deep"
		noReply  = "not Redis' protocol"
	)
	for _, c := range []struct{ sent, want string }{
		{"+OK\r\n-ERR no\r\n:12\r\n:-12\r\n$-1\r\n*-1\r\n*0\r\n$0\r\n\r\n$3\r\na\nb\r\n_\r\n#t\r\n,1.5\r\n,nan\r\n(123\r\n", fine},
		{"!5\r\nERR x\r\n=5\r\ntxt:x\r\n%1\r\n+a\r\n*2\r\n:1\r\n~1\r\n:2\r\n>2\r\n+a\r\n+b\r\n|1\r\n+a\r\n+b\r\n+OK\r\n|0\r\n+OK\r\n", fine},
		{strings.Repeat("*1\r\n", maxDepth) + ":1\r\n+OK\r\n", fine},
		{"$9000\r\n" + strings.Repeat("$9\r\n*", 1800) + "\r\n+OK\r\n", fine},
		{strings.Repeat("$9000\r\n"+strings.Repeat("x", 9000)+"\r\n", 5), fine},
		{strings.Repeat("*140\r\n"+strings.Repeat(":1\r\n", 140), 2), fine},
		{"+" + strings.Repeat("x", 9000) + "\r\n", fine},
		{"$9223372036854775807\r\n", tooLarge},
		{"$9223372036854775805\r\n", tooLarge},
		{"$99999999999999999999999\r\n", tooLarge},
		{"$10000\r\n", tooLarge},
		{"!10000\r\n", tooLarge},
		{"=10000\r\n", tooLarge},
		{"*9223372036854775807\r\n", tooLarge},
		{"*1000000000\r\n", tooLarge},
		{"~1000000000\r\n", tooLarge},
		{">1000000000\r\n", tooLarge},
		{"%1000000000\r\n", tooLarge},
		{"%4611686018427387904\r\n", tooLarge},
		{"|1000000000\r\n", tooLarge},
		{"|9223372036854775807\r\n", tooLarge},
		{"*157\r\n", tooLarge},
		{"%78\r\n", tooLarge},
		{"*2\r\n*100\r\n" + strings.Repeat(":1\r\n", 100) + "*100\r\n", tooLarge},
		{strings.Repeat("*100\r\n", 2), tooLarge},
		{strings.Repeat("|0\r\n", 1000), tooLarge},
		{strings.Repeat("|1\r\n+a\r\n+b\r\n", 1000), tooLarge},
		{"+" + strings.Repeat("x", 20_000), tooLarge},
		{"*3\r\n+" + strings.Repeat("x", 5000) + "\r\n+" + strings.Repeat("x", 5000), tooLarge},
		{strings.Repeat("*1\r\n", maxDepth+1), tooDeep},
		{strings.Repeat("|1\r\n", maxDepth+1), tooDeep},
		{"HTTP/1.1 400 Bad Request\r\n", noReply},
		{"\x15\x03\x01\x00\x02\x02\x16", noReply},
		{"\r\n", noReply},
		{"+OK\n", noReply},
		{"+\n", noReply},
		{"_\n", noReply},
		{"_x\r\n", noReply},
		{"#\r\n", noReply},
		{"#true\r\n", noReply},
		{"$\r\n", noReply},
		{"$-2\r\n", noReply},
		{"%-1\r\n", noReply},
		{"~-1\r\n", noReply},
		{"!-1\r\n", noReply},
		{"*-0\r\n", noReply},
		{"*+1\r\n", noReply},
		{"* 1\r\n", noReply},
		{"*1 \r\n", noReply},
		{"*?\r\n", noReply},
		{"$?\r\n", noReply},
		{";3\r\n", noReply},
		{".\r\n", noReply},
		{"*0x10\r\n", noReply},
		{":" + strings.Repeat("1", 100), noReply},
		{"*" + strings.Repeat("0", 100) + "1\r\n", noReply},
	} {
		for _, piece := range []int{1, 2, 3, 7, 64, 1 << 20} {
			good, err := follow(c.sent, piece, testLimit)
			switch {
			case c.want == fine && (err != nil || good != len(c.sent)):
				t.Errorf("%.40q in pieces of %d: %d of %d, %v", c.sent, piece, good, len(c.sent), err)
			case c.want != fine && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%.40q in pieces of %d: %v, want %s", c.sent, piece, err, c.want)
			}
		}
	}
}

// What came before the line that is refused is still delivered, and nothing of that line if it came in one piece.
func TestFramesBeforeTheRefused(t *testing.T) {
	if good, err := follow("+OK\r\n:1\r\n$9223372036854775807\r\n:2\r\n", 1000, testLimit); err == nil || good != len("+OK\r\n:1\r\n") {
		t.Errorf("%d, %v", good, err)
	}
}

// reader reads as client libraries do, which believe what is announced, and counts what they would allocate.
type reader struct {
	in *bufio.Reader
	n  int
}

func (r *reader) reply(depth int) error {
	line, err := r.in.ReadBytes('\n')
	if err != nil {
		return err
	}
	r.n += len(line)
	if depth > maxDepth+1 {
		return errors.New("too deep")
	}
	length := 0
	if strings.IndexByte("$!=*~>%|", line[0]) >= 0 {
		if length, err = strconv.Atoi(strings.TrimSpace(string(line[1:]))); err != nil {
			return err
		}
		if length == -1 {
			return nil
		}
	}
	elements := 0
	switch line[0] {
	case '$', '!', '=':
		if r.n += length; r.n < 0 || length < 0 || length > math.MaxInt32 {
			return errors.New("too large")
		}
		_, err = io.CopyN(io.Discard, r.in, int64(length)+2)
		return err
	case '*', '~', '>':
		elements = length
	case '%', '|':
		elements = 2 * length
	}
	if elements < 0 || elements > math.MaxInt32 {
		return errors.New("too large")
	}
	r.n += elements * element
	for range elements {
		if err := r.reply(depth + 1); err != nil {
			return err
		}
	}
	if line[0] == '|' {
		r.n += element
		return r.reply(depth) // what it belongs to
	}
	return nil
}

// Whatever a server sends, in whatever pieces: a reader of what is let through takes no more than the limit for a
// reply, and what is refused does not depend on the pieces.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{"+OK\r\n$3\r\nabc\r\n*2\r\n:1\r\n*0\r\n", "%1\r\n+a\r\n|1\r\n+a\r\n+b\r\n_\r\n", "$99999\r\n", "*1000000000\r\n", "|0\r\n|0\r\n+x\r\n",
		"!3\r\nERR\r\n", "=7\r\ntxt:abc\r\n#t\r\n,nan\r\n(1\r\n>1\r\n+x\r\n", "_\n$9\r\n", "$-1\r\n*-1\r\n"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, sent []byte, piece uint8) {
		const limit = 1000
		good, refused := follow(string(sent), len(sent)+1, limit)
		if _, again := follow(string(sent), int(piece)+1, limit); (again == nil) != (refused == nil) {
			t.Fatalf("refused: %v, and in pieces of %d: %v", refused, int(piece)+1, again)
		}
		r := reader{in: bufio.NewReader(bytes.NewReader(sent[:good]))}
		for {
			r.n = 0
			err := r.reply(0)
			if r.n > limit {
				t.Fatalf("a reply that takes %d was let through", r.n)
			}
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkFrames(b *testing.B) {
	for _, sent := range []string{"+OK\r\n", "*2\r\n:1\r\n:7\r\n", "*64\r\n" + strings.Repeat(":1\r\n", 64)} {
		b.Run(fmt.Sprint(len(sent)), func(b *testing.B) {
			f, p := newFrames(1<<20), []byte(sent)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.take(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
