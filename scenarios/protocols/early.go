package protocols

import "time"

// Early is the error of a call that was to wait for the lock for longer, and was not granted it. It matches what it wraps.
type Early struct {
	Err error
	// Left is for how much longer it was to wait, by the client's clock.
	Left time.Duration
}

func (e *Early) Error() string { return e.Err.Error() }
func (e *Early) Unwrap() error { return e.Err }
