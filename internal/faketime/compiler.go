package faketime

import (
	"errors"
	"os/exec"
)

// ErrNoCompiler is what errors.Is finds in the error of [Build] on a machine without a C compiler.
var ErrNoCompiler = errors.New("needs a C compiler (cc), for a library that is loaded into redis-server")

// HasCompiler reports whether there is a C compiler.
func HasCompiler() bool {
	_, err := exec.LookPath("cc")
	return err == nil
}
