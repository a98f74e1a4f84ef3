package guest

// errno is an error number of WASI, preview 1.
type errno uint32

const (
	success    errno = 0
	again      errno = 6
	badFile    errno = 8
	refused    errno = 14
	reset      errno = 15
	fault      errno = 21
	invalid    errno = 28
	notThere   errno = 52
	pipeBroken errno = 64
)

// function is what a guest calls. Its arguments are on the stack.
type function func(g *Guest, m memory, args []uint64) errno

// and is the first of two results that is none of success.
func (e errno) and(then errno) errno {
	if e != success {
		return e
	}
	return then
}
