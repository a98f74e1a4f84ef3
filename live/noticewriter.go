//go:build linux

package live

import (
	"encoding/json"
	"sync"

	"redlocksim/internal/faketime"
)

// noticeWriter sends notices to the parent process.
type noticeWriter struct {
	mu  sync.Mutex
	out *json.Encoder
}

// send sends a notice, with the time.
func (p *noticeWriter) send(n notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n.At = faketime.MachineTime()
	_ = p.out.Encode(n) // a parent that is gone reads nothing
}
