//go:build linux

package live

import (
	"errors"
	"strings"
	"testing"
	"time"

	"redlocksim/live/internal/client"
)

// A client whose lock program does what none may while it begins can be closed, although nobody has asked what came of it.
func TestAClientThatFailsAsItBegins(t *testing.T) {
	gone := make(chan error, 10)
	c, err := startProcess([]string{"/bin/sh", "-c", `echo '{"nonsense":"no"}'; echo '{"ready":true}'; cat >/dev/null`}, "client-1", client.Order{},
		func(*process, client.Notice) {}, func(_ *process, why error) { gone <- why })
	if err != nil {
		t.Fatal(err)
	}
	if why := <-gone; !strings.Contains(why.Error(), "no") {
		t.Error(why)
	}
	closed := make(chan struct{})
	go func() { c.close(); close(closed) }()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Fatal("it is never closed")
	}
	if err := c.ready(t.Context()); err == nil {
		t.Error("it has begun")
	}
}

// What a lock program says is passed on, however long it is and whatever JSON makes of it.
func TestALongNotice(t *testing.T) {
	gone := make(chan error, 10)
	c, err := startProcess([]string{"/bin/sh", "-c", `printf '{"nonsense":"%s"}\n' "$(head -c 5000000 /dev/zero | tr '\0' x)"; cat >/dev/null`}, "client-1", client.Order{},
		func(*process, client.Notice) {}, func(_ *process, why error) { gone <- why })
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if why := <-gone; !errors.As(why, new(*nonsense)) {
		t.Errorf("%.200v", why)
	}
}
