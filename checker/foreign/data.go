package foreign

// datum reads one piece of data.
func (s *scanner) datum(depth int) error {
	if depth > maxDepth {
		return s.wrong(ErrTooLarge, "more than %d levels inside each other", maxDepth)
	}
	if err := s.space(); err != nil {
		return err
	}
	if !s.more() {
		return s.end("the last operation is not complete")
	}
	if err := s.checkSize(); err != nil {
		return err
	}
	switch c := s.buf[s.at]; {
	case c == '"':
		return s.quoted(false)
	case c == '{' && s.json:
		return s.object(depth)
	case c == '[' && s.json:
		return s.array(depth)
	case c == '{':
		return s.collection(record, '}', depth)
	case c == '[':
		return s.collection(list, ']', depth)
	case c == '(' && !s.json:
		return s.collection(list, ')', depth)
	case c == '#' && !s.json:
		return s.dispatch(depth)
	case c == '\\' && !s.json:
		return s.character()
	default:
		return s.atom()
	}
}

func (s *scanner) open(kind nodeKind) (at int) {
	s.nodes = append(s.nodes, node{kind: kind})
	return len(s.nodes) - 1
}

func (s *scanner) close(at int) { s.nodes[at].end = int32(len(s.nodes)) }

func (s *scanner) leaf(kind nodeKind, from int) {
	s.nodes = append(s.nodes, node{kind, int32(from), int32(len(s.text)), int32(len(s.nodes) + 1)})
}

// textOf is the text of a node; good until the next operation is read.
func (s *scanner) textOf(n *node) []byte { return s.text[n.from:n.to] }
