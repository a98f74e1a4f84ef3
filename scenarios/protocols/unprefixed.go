package protocols

import (
	"errors"
	"strings"

	"redlocksim/redlock"
)

// unprefixed is an error of package redlock as the error of a file, in which its prefix would say nothing.
func unprefixed(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), redlock.ErrInvalid.Error()+": "))
}
