package gitstore

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Signature is a person and a time. Git keeps whole seconds and the zone's
// offset in minutes.
type Signature struct {
	Name, Email string
	When        time.Time
}

// Commit is a commit as Git stores it.
type Commit struct {
	ID        ID
	Tree      ID
	Parents   []ID
	Author    Signature
	Committer Signature
	// Lost is the first parent, if a Store has a boundary in its place. PrunedAt is when it
	// was pruned, zero if it was lost otherwise.
	Lost     ID
	PrunedAt time.Time
	// Message is everything after the headers, bytes as stored.
	Message string
}

// FirstParent returns the parent that history follows, or the zero ID.
func (c *Commit) FirstParent() ID {
	if len(c.Parents) == 0 {
		return ID{}
	}
	return c.Parents[0]
}

// ParseCommit reads a commit as Git stores it; what does not decode is damaged.
func ParseCommit(data []byte) (*Commit, error) {
	c := &Commit{}
	seen := map[string]bool{}
	for {
		line, rest, ok := bytes.Cut(data, []byte{'\n'})
		if !ok && len(line) > 0 {
			return nil, Damaged("commit header %q has no end", line)
		}
		data = rest
		if len(line) == 0 {
			break
		}
		key, value, _ := strings.Cut(string(line), " ")
		seen[key] = true
		if err := c.header(key, value); err != nil {
			return nil, err
		}
	}
	if !seen["tree"] || !seen["author"] || !seen["committer"] {
		return nil, Damaged("commit lacks a header")
	}
	c.Message = string(data)
	return c, nil
}

func (c *Commit) header(key, value string) (err error) {
	switch key {
	case "tree":
		c.Tree, err = ParseID(value)
	case "parent":
		var p ID
		p, err = ParseID(value)
		c.Parents = append(c.Parents, p)
	case "author":
		c.Author = parseSignature(value)
	case "committer":
		c.Committer = parseSignature(value)
	}
	if err != nil {
		return Damaged("commit header %s: %v", key, err)
	}
	return nil
}

// parseSignature gives what it can of a line that old tools wrote badly.
func parseSignature(s string) Signature {
	var sig Signature
	open, end := strings.IndexByte(s, '<'), strings.LastIndexByte(s, '>')
	if open < 0 || end < open {
		return Signature{Name: s, When: time.Unix(0, 0).UTC()}
	}
	sig.Name, sig.Email = strings.TrimSpace(s[:open]), s[open+1:end]
	fields := strings.Fields(s[end+1:])
	sig.When = time.Unix(0, 0).UTC()
	if len(fields) == 0 {
		return sig
	}
	secs, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return sig
	}
	sig.When = time.Unix(secs, 0).UTC()
	if len(fields) > 1 {
		if offset, ok := parseZone(fields[1]); ok {
			sig.When = sig.When.In(time.FixedZone("", offset))
		}
	}
	return sig
}

func parseZone(s string) (seconds int, ok bool) {
	n, err := strconv.Atoi(s)
	if err != nil || len(s) != 5 || (s[0] != '+' && s[0] != '-') {
		return 0, false
	}
	return n/100*3600 + n%100*60, true
}

func (s Signature) format() string {
	when := s.When
	secs := max(when.Unix(), 0)
	_, offset := when.Zone()
	sign := '+'
	if offset < 0 {
		sign, offset = '-', -offset
	}
	minutes := offset / 60
	return fmt.Sprintf("%s <%s> %d %c%02d%02d", sanitiseIdentity(s.Name, "Umbra"),
		sanitiseIdentity(s.Email, "umbra@localhost"), secs, sign, minutes/60, minutes%60)
}

// sanitiseIdentity removes what would break a commit's header, as Git does:
// control characters and angle brackets anywhere, and punctuation at the ends.
func sanitiseIdentity(s, fallback string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == '<' || r == '>' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if s = strings.Trim(s, " .,:;\"\\'"); s == "" {
		return fallback
	}
	return s
}

// EncodeCommit serialises a commit. The message gets a final newline.
func EncodeCommit(c *Commit) ([]byte, error) {
	if c.Tree.IsZero() {
		return nil, fmt.Errorf("a commit needs a tree")
	}
	if strings.ContainsRune(c.Message, 0) {
		return nil, fmt.Errorf("a commit message cannot hold NUL")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", c.Tree)
	for _, p := range c.Parents {
		if p.IsZero() {
			return nil, fmt.Errorf("a commit's parent cannot be the zero id")
		}
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n", c.Author.format(), c.Committer.format())
	b.WriteString(c.Message)
	if !strings.HasSuffix(c.Message, "\n") {
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}
