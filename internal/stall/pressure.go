package stall

import (
	"fmt"
	"os"
	"time"
)

// pressure is the kernel's count of how long threads waited for a processor; nil if it keeps none.
type pressure struct{ file *os.File }

func openPressure(path string) *pressure {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	return &pressure{f}
}

// read is for how long some thread has waited since the machine started; zero if the kernel does not say.
func (p *pressure) read() time.Duration {
	if p == nil {
		return 0
	}
	var text [200]byte
	n, _ := p.file.ReadAt(text[:], 0) // the end of the file is an error
	var ten, sixty, threeHundred float64
	var total int64 // µs
	const format = "some avg10=%f avg60=%f avg300=%f total=%d"
	if _, err := fmt.Sscanf(string(text[:n]), format, &ten, &sixty, &threeHundred, &total); err != nil {
		return 0
	}
	return time.Duration(total) * time.Microsecond
}

func (p *pressure) close() {
	if p != nil {
		_ = p.file.Close()
	}
}
