//go:build linux

package live

// ClientOver is Client with something put between the library and each node of a soak.
var ClientOver = clientOver
