// Package resultsfile keeps results that take long to get in a JSON file, which an interrupted measurement goes on from.
package resultsfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"redlocksim/internal/outfile"
)

// Read reads the results that a file holds into results, a pointer. A file that is not there leaves them as they are.
func Read(path string, results any) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, results); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Write replaces the file by the results, or leaves it as it was.
func Write(path string, results any) error {
	data, err := json.MarshalIndent(results, "", " ")
	if err != nil {
		return err
	}
	return outfile.Rules{Force: true}.Write(path, append(data, '\n'))
}
