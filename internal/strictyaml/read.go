package strictyaml

import (
	"errors"
	"io"

	"redlocksim/internal/input"
)

// ReadFile reads a file for [Decode]. One above [MaxBytes] is not read further and gives an [Errors]; one that cannot be read,
// an error of package os.
func ReadFile(path string) ([]byte, error) {
	data, err := input.ReadFile(path, MaxBytes)
	return data, tooLarge(path, err)
}

// Read is ReadFile for a reader; file is what it is called in errors.
func Read(file string, r io.Reader) ([]byte, error) {
	data, err := input.Read(file, r, MaxBytes)
	return data, tooLarge(file, err)
}

func tooLarge(file string, err error) error {
	if errors.Is(err, input.ErrTooLarge) {
		return Errors{Errorf(file, 1, 1, "", nil, "the file is larger than %d bytes", MaxBytes)}.Err()
	}
	return err
}
