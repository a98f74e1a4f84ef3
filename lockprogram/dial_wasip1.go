package lockprogram

import (
	"context"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// hostDial is the simulator's: a descriptor at once, from which the first byte that can be read is how the dialing went, 0 or
// an error number; or minus an error number.
//
//go:wasmimport redlocksim dial
func hostDial(address unsafe.Pointer, size uint32) int32

// Dial connects to a node. It is that of every Env.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	failed := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: nodeAddr(address), Err: err}
	}
	if address == "" {
		return failed(syscall.EINVAL)
	}
	fd := hostDial(unsafe.Pointer(unsafe.StringData(address)), uint32(len(address)))
	if fd < 0 {
		return failed(syscall.Errno(-fd))
	}
	f := os.NewFile(uintptr(fd), address)
	c, err := net.FileConn(f)
	f.Close()
	if err != nil {
		return failed(err)
	}
	stop := context.AfterFunc(ctx, func() { c.SetReadDeadline(time.Unix(1, 0)) })
	var status [1]byte
	_, err = io.ReadFull(c, status[:])
	if !stop() {
		err = ctx.Err()
	}
	if err == nil && status[0] != 0 {
		err = syscall.Errno(status[0])
	}
	if err != nil {
		c.Close()
		return failed(err)
	}
	return c, nil
}

// nodeAddr is the address of a node.
type nodeAddr string

func (nodeAddr) Network() string  { return "tcp" }
func (a nodeAddr) String() string { return string(a) }
