package stall

import (
	"fmt"
	"os"
	"time"
)

// pressure is the file in which the kernel says for how long threads have waited for a processor.
type pressure string

// read is for how long some thread has waited since the machine started; zero if the kernel does not say.
func (p pressure) read() time.Duration {
	text, err := os.ReadFile(string(p))
	if err != nil {
		return 0
	}
	var ten, sixty, threeHundred float64
	var total int64 // µs
	const format = "some avg10=%f avg60=%f avg300=%f total=%d"
	if _, err := fmt.Sscanf(string(text), format, &ten, &sixty, &threeHundred, &total); err != nil {
		return 0
	}
	return time.Duration(total) * time.Microsecond
}
