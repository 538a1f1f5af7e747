package highlight

import "strings"

// Palette is what a terminal can show. The codes are those of select graphic
// rendition (ECMA-48, 8.3.117), "" for text as it is.
type Palette uint8

// The palettes. What is added and removed is told by its sign in all of them.
const (
	Mono    Palette = iota // weights alone
	Sixteen                // the colours that every palette has: a changed line has one, and weights
	Dark                   // 256, a changed line lies on a dark ground
	Light                  // 256, on a light ground
)

// PaletteOf is that of a terminal with colours, by its environment: whether it has
// 256 is in TERM and COLORTERM, and in COLORFGBG, as rxvt and those after it set
// it, if its ground is light.
func PaletteOf(getenv func(string) string) Palette {
	many := strings.Contains(getenv("TERM"), "256color")
	switch getenv("COLORTERM") {
	case "truecolor", "24bit":
		many = true
	}
	ground := getenv("COLORFGBG")
	ground = ground[strings.LastIndex(ground, ";")+1:]
	switch {
	case !many:
		return Sixteen
	case ground == "7" || ground == "15":
		return Light
	}
	return Dark
}

// grounds are what changed lines lie on, with the text on them and its classes.
var grounds = [...]struct {
	added, removed string
	signs          [2]string // on the two
	text           [Comment + 1]string
}{
	Dark:  {"48;5;22", "48;5;52", [2]string{"1;38;5;120", "1;38;5;217"}, [...]string{"38;5;252", "38;5;219", "38;5;159", "38;5;153", "38;5;229", "38;5;223", "38;5;250"}},
	Light: {"48;5;194", "48;5;224", [2]string{"1;38;5;22", "1;38;5;88"}, [...]string{"38;5;235", "38;5;90", "38;5;24", "38;5;19", "38;5;94", "38;5;94", "38;5;59"}},
}

// Code is how a class is shown in a line of a kind.
func (p Palette) Code(k Kind, c Class) string {
	switch {
	case k == Header:
		return "1"
	case k == Hunk:
		return "36"
	case k == Note:
		return "2"
	case p == Mono:
		return weight(c)
	case k == Context:
		return [...]string{Plain: "", Keyword: "35", Type: "36", Function: "34", String: "33", Number: "33", Comment: "2"}[c]
	case p == Sixteen:
		return joined(hue(k), weight(c))
	}
	return joined(p.Ground(k), grounds[p].text[c])
}

// Sign is how the sign before a line is shown.
func (p Palette) Sign(k Kind) string {
	switch {
	case k == Context, p == Mono:
		return ""
	case p == Sixteen:
		return hue(k)
	}
	sign := grounds[p].signs[0]
	if k == Removed {
		sign = grounds[p].signs[1]
	}
	return joined(p.Ground(k), sign)
}

// Ground is what a line lies on, "" for the terminal's own.
func (p Palette) Ground(k Kind) string {
	switch k {
	case Added:
		return grounds[p].added
	case Removed:
		return grounds[p].removed
	}
	return ""
}

func hue(k Kind) string {
	if k == Added {
		return "32"
	}
	return "31"
}

func weight(c Class) string {
	switch c {
	case Keyword:
		return "1"
	case Comment:
		return "2"
	}
	return ""
}

func joined(a, b string) string {
	if b == "" {
		return a
	}
	return a + ";" + b
}

// A Piece is text in one style.
type Piece struct {
	Text string
	Code string
}

// Pieces are a line of a patch, its sign first.
func (p Palette) Pieces(l Line) []Piece {
	if !l.Source() {
		return []Piece{{l.Text, p.Code(l.Kind, Plain)}}
	}
	sign := Piece{l.Text[:1], p.Sign(l.Kind)}
	list := p.pieces(l.Kind, l.Text[1:], l.Runs)
	if len(list) > 0 && list[0].Code == sign.Code {
		list[0].Text = sign.Text + list[0].Text
		return list
	}
	return append([]Piece{sign}, list...)
}

// SourcePieces are a line of a file.
func (p Palette) SourcePieces(text string, runs []Run) []Piece {
	return p.pieces(Context, text, runs)
}

func (p Palette) pieces(k Kind, text string, runs []Run) []Piece {
	var list []Piece
	add := func(text, code string) {
		if n := len(list) - 1; n >= 0 && list[n].Code == code {
			list[n].Text += text
		} else if text != "" {
			list = append(list, Piece{text, code})
		}
	}
	for _, r := range runs {
		n := min(r.Len, len(text))
		add(text[:n], p.Code(k, r.Class))
		text = text[n:]
	}
	add(text, p.Code(k, Plain))
	return list
}
