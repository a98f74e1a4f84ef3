package foreign

func (s *scanner) array(depth int) error {
	at := s.open(list)
	s.at++
	for n := 0; ; n++ {
		done, err := s.separator(']', n)
		if err != nil {
			return err
		}
		if done {
			s.close(at)
			return nil
		}
		if err := s.datum(depth + 1); err != nil {
			return err
		}
	}
}

func (s *scanner) object(depth int) error {
	at := s.open(record)
	s.at++
	for n := 0; ; n++ {
		done, err := s.separator('}', n)
		if err != nil {
			return err
		}
		if done {
			s.close(at)
			return nil
		}
		if err := s.expect('"', "a name in quotes"); err != nil {
			return err
		}
		if err := s.quoted(false); err != nil {
			return err
		}
		if err := s.expect(':', "a colon"); err != nil {
			return err
		}
		s.at++
		if err := s.datum(depth + 1); err != nil {
			return err
		}
	}
}

// separator reads the comma before the n-th member, or the end.
func (s *scanner) separator(closer byte, n int) (done bool, err error) {
	if err := s.space(); err != nil {
		return false, err
	}
	switch {
	case !s.more():
		return false, s.end("the last operation is not complete")
	case s.buf[s.at] == closer:
		s.at++
		return true, nil
	case n == 0:
		return false, nil
	case s.buf[s.at] != ',':
		return false, s.wrong(ErrSyntax, "%q instead of a comma or %q", s.buf[s.at], closer)
	}
	s.at++
	return false, nil
}

func (s *scanner) expect(c byte, what string) error {
	if err := s.space(); err != nil {
		return err
	}
	if !s.more() {
		return s.end("the last operation is not complete")
	}
	if s.buf[s.at] != c {
		return s.wrong(ErrSyntax, "%q instead of %s", s.buf[s.at], what)
	}
	return nil
}
