package outfile

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// holdInterrupts keeps an interrupt from ending the process while there is a temporary file, until release is called. An
// interrupt that came meanwhile then ends the process, unless the command handles interrupts itself.
func holdInterrupts() (release func()) {
	held := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if !signal.Ignored(s) { // as under nohup
			signal.Notify(held, s)
		}
	}
	return func() {
		signal.Stop(held)
		select {
		case s := <-held:
			if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(s) == nil {
				time.Sleep(time.Second) // it ends here, before it makes another file, or goes on to tell what there is
			}
		default:
		}
	}
}
