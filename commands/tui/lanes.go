package tui

import (
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

// mostLanes is how many lines of restores are drawn beside each other.
const mostLanes = 3

// drawLanes draws a line from each restore, and each undo, down to the snapshot
// that it put back: what is beside it is what it took back. One that leads to
// where nothing is listed is not drawn, nor one for which there is no room.
func drawLanes(rows []row, entries []missions.Entry) {
	var at map[string]int
	var used [mostLanes]int // the row down to which each lane is taken, plus one
	var lanes [][]rune
	for i, r := range rows {
		to := entries[r.entry].RestoredFrom
		if r.key.turn || to == "" {
			continue
		}
		if at == nil {
			at, lanes = rowsOf(rows, entries), make([][]rune, len(rows))
		}
		end, ok := at[to]
		if !ok || end <= i {
			continue
		}
		for lane := range used {
			if used[lane] <= i {
				used[lane] = end + 1
				drawLane(lanes[i:end+1], lane)
				break
			}
		}
	}
	width := 0
	for lane, end := range used {
		if end > 0 {
			width = lane + 1
		}
	}
	for i := range lanes {
		rows[i].lanes = string(lanes[i]) + strings.Repeat(" ", width-len(lanes[i]))
	}
}

// drawLane draws one line down its rows.
func drawLane(rows [][]rune, lane int) {
	for i := range rows {
		for len(rows[i]) <= lane {
			rows[i] = append(rows[i], ' ')
		}
		sign := '│'
		switch i {
		case 0:
			sign = '╭'
		case len(rows) - 1:
			sign = '╰'
		}
		rows[i][lane] = sign
	}
}

// rowsOf finds the row of each snapshot: its own, or its turn's where that is
// folded.
func rowsOf(rows []row, entries []missions.Entry) map[string]int {
	at := make(map[string]int, len(rows))
	for i, r := range rows {
		switch {
		case !r.key.turn:
			at[entries[r.entry].ID] = i
		case r.folded:
			for j := r.entry; j < len(entries) && (chapterKey{entries[j].Mission, entries[j].Turn}) == r.turn; j++ {
				at[entries[j].ID] = i
			}
		}
	}
	return at
}
