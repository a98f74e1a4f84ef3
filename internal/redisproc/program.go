package redisproc

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
)

// ProgramEnv is the environment variable that names the program to start in the place of the redis-server on the PATH: another
// version, or Valkey.
const ProgramEnv = "REDLOCKSIM_REDIS_SERVER"

// Program is the path of the server to start.
func Program() (string, error) {
	name := cmp.Or(os.Getenv(ProgramEnv), "redis-server")
	found, err := exec.LookPath(name)
	if err != nil && name != "redis-server" {
		return "", fmt.Errorf("%s: %w", ProgramEnv, err)
	}
	return found, err
}
