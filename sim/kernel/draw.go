package kernel

// Draw is the key of random choices of the process. A restarted one makes others.
func (p *Process) Draw(what string) Key {
	key := p.k.Draw(what).WithString(p.name)
	if p.life > 0 {
		key = key.With(p.life)
	}
	return key
}
