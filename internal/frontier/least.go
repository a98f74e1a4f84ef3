package frontier

// Least looks for the number nearest to 0, of those up to the last, that is good: its neighbour is not, nor is the one before
// it that nearer names, lest a few good ones that stand alone pass for all. It begins at a guess, unless that is negative. It
// is −1 if none is found; the error is that of isGood.
func Least(last, guess int64, nearer func(int64) int64, isGood func(int64) (bool, error)) (at int64, err error) {
	good := func(i int64) bool {
		if err != nil || i < 0 || i > last {
			return false
		}
		is := false
		is, err = isGood(i)
		return is && err == nil
	}
	if at = -1; good(guess) {
		at = guess
	}
	for part := int64(1); at < 0 && part <= 8; part *= 2 { // too much of a good thing may break something else
		if good(last / part) {
			at = first(last/part, good)
		}
	}
	for at > 0 {
		before := at - 1
		if !good(before) {
			if before = min(before, nearer(at)); before == at-1 || !good(before) {
				break
			}
		}
		at = first(before, good)
	}
	if err != nil {
		return -1, err
	}
	return at, nil
}

// first is the first of those that are good, up to one that is known to be, as if there were a bad one before number 0.
func first(known int64, good func(int64) bool) int64 {
	line, _, _ := Narrow(known+1, func(i int64) (Side, error) {
		if i == known+1 || i > 0 && good(i-1) {
			return Holds, nil
		}
		return Breaks, nil
	})
	at, _, _ := Change(line.Sides)
	return line.At[at] - 1
}
