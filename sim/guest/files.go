package guest

import (
	"redlocksim/sim/redis"
)

// The descriptors of a guest.
const (
	stdin  = 0
	stdout = 1
	stderr = 2
	// firstConnection leaves room for what programs take for directories.
	firstConnection = 16
)

// What fd_fdstat_get says of descriptors.
const (
	characterDevice = 2
	streamSocket    = 6
	nonBlocking     = 4
)

// file is a connection of a guest. The first byte that is read from it says how the dialing went: 0, or the error number.
type file struct {
	redis.Stream
	answered bool
}

// dial asks for a connection, and gives its descriptor, at once; a negative number, if there is no such address.
func dial(g *Guest, m memory, args []uint64) errno {
	address, ok := m.Read(uint32(args[0]), uint32(args[1]))
	if !ok {
		return minus(fault)
	}
	f := &file{}
	stream, err := g.Dial(string(address), func() {
		if err := f.Err(); err != nil {
			g.Fail("it has sent to a node: %v", err)
		}
		g.wake()
	})
	if err != nil {
		return minus(invalid)
	}
	f.Stream = stream
	fd := g.next
	g.next++
	g.files[fd] = f
	return errno(fd)
}

// minus is an error number as dial gives it.
func minus(e errno) errno { return errno(uint32(-int32(e))) }

// isReady says whether a read would not have to wait.
func (f *file) isReady() bool {
	return !f.answered && f.State() != redis.Dialing || f.answered && (f.Buffered() > 0 || f.State() != redis.Established)
}

// read reads what has come. It gives no bytes, and success, at the end.
func (f *file) read(b []byte) (n int, e errno) {
	switch state := f.State(); {
	case len(b) == 0:
		return 0, success
	case !f.isReady():
		return 0, again
	case !f.answered:
		f.answered = true
		b[0] = byte(success)
		if state == redis.NotAccepted {
			b[0] = byte(refused)
		} else if state == redis.BrokenOff {
			b[0] = byte(reset)
		}
		return 1, success
	case f.Buffered() > 0:
		return f.Read(b), success
	case state == redis.BrokenOff:
		return 0, reset
	}
	return 0, success
}

// connection is the connection with a descriptor; nil if there is none.
func (g *Guest) connection(fd uint64) *file { return g.files[int32(fd)] }

func fdClose(g *Guest, _ memory, args []uint64) errno {
	f := g.connection(args[0])
	if f == nil {
		if args[0] <= stderr {
			return success
		}
		return badFile
	}
	f.Close()
	delete(g.files, int32(args[0]))
	return success
}

func fdStat(g *Guest, m memory, args []uint64) errno {
	kind, flags := byte(characterDevice), byte(0)
	switch fd := args[0]; {
	case fd == stdin:
		flags = nonBlocking
	case g.connection(fd) != nil:
		kind, flags = streamSocket, nonBlocking
	case fd > stderr:
		return badFile
	}
	const allRights = ^uint64(0)
	return m.put(args[1], []byte{kind, 0, flags, 0, 0, 0, 0, 0}).and(m.put64(args[1]+8, allRights)).and(m.put64(args[1]+16, allRights))
}

func fdRead(g *Guest, m memory, args []uint64) errno {
	f := g.connection(args[0])
	if f == nil && args[0] != stdin {
		return badFile
	}
	total, result := 0, success
	ok := m.vectors(args[1], args[2], func(piece []byte) bool {
		n, e := g.read(f, piece)
		if total == 0 {
			result = e
		}
		total += n
		return n == len(piece)
	})
	switch {
	case !ok:
		return fault
	case total > 0:
		result = success
	case result != success:
		return result
	}
	return m.put32(args[3], uint32(total))
}

// read reads from a connection, or from the standard input if that is nil.
func (g *Guest) read(f *file, b []byte) (int, errno) {
	if f != nil {
		return f.read(b)
	}
	if len(g.input) == 0 && len(b) > 0 {
		return 0, again
	}
	n := copy(b, g.input)
	g.input = g.input[n:]
	return n, success
}

// maxWrite is how many bytes are written at once at the most; the program writes the rest after that.
const maxWrite = 1 << 20

func fdWrite(g *Guest, m memory, args []uint64) errno {
	var data []byte
	if !m.vectors(args[1], args[2], func(piece []byte) bool {
		data = append(data, piece[:min(len(piece), maxWrite-len(data))]...)
		return len(data) < maxWrite
	}) {
		return fault
	}
	if e := g.write(args[0], data); e != success {
		return e
	}
	return m.put32(args[3], uint32(len(data)))
}

func (g *Guest) write(fd uint64, data []byte) errno {
	f := g.connection(fd)
	switch {
	case fd == stdout:
		if !g.output.take(data, g.Line) {
			g.stop("it has written more than %d bytes to its standard output, or a line longer than %d", g.program.limits.Output, maxLine)
		}
	case fd == stderr:
		if !g.log.take(data, g.keep) {
			g.stop("it has written more than %d bytes to its standard error, or a line longer than %d", g.program.limits.Output, maxLine)
		}
	case f == nil:
		return badFile
	case f.State() == redis.Dialing:
		return again
	default:
		if err := f.Write(data); err != nil {
			g.stop("it has sent to a node: %v", err)
		}
		switch f.State() {
		case redis.Established:
		case redis.BrokenOff:
			return reset
		default:
			return pipeBroken
		}
		g.Process.Checkpoint() // a message can be the moment of a fault
	}
	return success
}

// sockRecv and sockSend are fd_read and fd_write with flags, of which there are none.
func sockRecv(g *Guest, m memory, args []uint64) errno {
	return fdRead(g, m, []uint64{args[0], args[1], args[2], args[4]}).and(m.put(args[5], []byte{0, 0}))
}

func sockSend(g *Guest, m memory, args []uint64) errno {
	return fdWrite(g, m, []uint64{args[0], args[1], args[2], args[4]})
}
