package restore

import (
	"testing"
)

// TestApply carries the plan of each row out, takes it back, and does it again.
func TestApply(t *testing.T) {
	for _, row := range rows() {
		if row.name == "a path over PATH_MAX" {
			continue
		}
		for name, options := range map[string]PrepareOptions{"journal": {}, "beside": {Beside: true}} {
			t.Run(row.name+"/"+name, func(t *testing.T) {
				l := newFastLab(t)
				l.settings.SizeCap = 100
				row.then(l)
				to := l.capture()
				row.now(l)
				from := l.capture()
				var requests []func(*Request)
				if row.request != nil {
					requests = append(requests, row.request)
				}
				p := l.plan(from, to, requests...)
				before := l.disk()
				want := l.planned(before, p)
				l.apply(p, options)
				l.same("restore", l.disk(), want)
				if len(p.Keep) == 0 && row.request == nil {
					if got := l.capture().Tree; got != to.Tree {
						t.Errorf("tree after the restore is %s, want %s", got, to.Tree)
					}
				}
				undo := l.inverse(p)
				l.apply(undo, options)
				if got := l.disk(); !sameFiles(got, before) {
					l.same("undo", got, before)
				}
				l.apply(l.inverse(undo), options)
				l.same("redo", l.disk(), want)
			})
		}
	}
}

// sameFiles compares what is not a directory.
func sameFiles(a, b map[string]string) bool {
	count := func(m map[string]string) (n int) {
		for _, is := range m {
			if is != "dir" {
				n++
			}
		}
		return n
	}
	for path, is := range a {
		if is != "dir" && b[path] != is {
			return false
		}
	}
	return count(a) == count(b)
}
