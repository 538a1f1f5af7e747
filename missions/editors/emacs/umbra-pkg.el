;; `umbra hooks uninstall emacs' removes this file. -*- no-byte-compile: t -*-
(define-package "umbra" "1.0" "Umbra in Emacs: what is saved is kept" '((emacs "27.1")))
