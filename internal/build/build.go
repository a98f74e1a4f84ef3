// Package build says which build of redlocksim this is.
package build

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// Name names what results depend on: the revision that this program was built from, the Go version, and the kind of processor,
// as some of them round a product and a sum only once; of a build from sources that were changed since, or that says nothing of
// its revision, the program itself.
var Name = sync.OnceValues(func() (string, error) {
	set := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			set[s.Key] = s.Value
		}
	}
	if revision := set["vcs.revision"]; len(revision) >= digits && set["vcs.modified"] == "false" {
		return revision[:digits] + "-" + runtime.Version() + "-" + runtime.GOARCH, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return "program-" + hex.EncodeToString(hash.Sum(nil))[:digits], nil
})

const digits = 12
