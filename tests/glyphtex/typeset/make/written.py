# ruff: noqa: E501 (a formula stands on one line)
"""Formulas that were written by hand, a line each, by kind."""

from __future__ import annotations

from typing import Final

_TABLE: Final = r"""
scripts: v^{2} = v_{0}^{2} + 2as
scripts: x_{1}^{2} + x_{2}^{2} + x_{3}^{2} = 1
scripts: a^{2} + b^{2} = c^{2}
scripts: T^{2} \propto a^{3}
scripts: L = 4\pi R^{2}\sigma T^{4}
scripts: m_{1}v_{1} + m_{2}v_{2} = m_{1}v_{1}' + m_{2}v_{2}'
scripts: N = N_{0}e^{-\lambda t}
scripts: pV^{\gamma} = \mathrm{const}
scripts: 2^{2^{n}} + 1
scripts: (x^{2} + 1)^{3} - x^{6}
scripts: R_{\oplus}
scripts: M_{\odot}
scripts: a_{n+1} = 3a_{n} - 2a_{n-1}
scripts: x^{2n} - 1
scripts: \mu_{0}\varepsilon_{0}c^{2} = 1
fraction: F = G\frac{m_{1}m_{2}}{r^{2}}
fraction: E = \frac{1}{2}mv^{2}
fraction: \frac{1}{f} = \frac{1}{u} + \frac{1}{v}
fraction: x = \frac{-b \pm \sqrt{b^{2} - 4ac}}{2a}
fraction: \frac{PV}{T} = nR
fraction: \frac{\sin\alpha}{\sin\beta} = \frac{n_{2}}{n_{1}}
fraction: v = \frac{\Delta x}{\Delta t}
fraction: \rho = \frac{3M}{4\pi R^{3}}
fraction: z = \frac{\lambda - \lambda_{0}}{\lambda_{0}}
fraction: \frac{a}{\sin A} = \frac{b}{\sin B} = 2R
fraction: \frac{dN}{dt} = rN\left( 1 - \frac{N}{K} \right)
fraction: \frac{a^{n} - 1}{a - 1}
fraction: \frac{n(n + 1)}{2}
fraction: I = \frac{U}{R + r}
fraction: \frac{7}{12} < \frac{p}{q} < \frac{3}{5}
nested_fraction: R = \frac{1}{\frac{1}{R_{1}} + \frac{1}{R_{2}} + \frac{1}{R_{3}}}
nested_fraction: v = \frac{v_{1} + v_{2}}{1 + \frac{v_{1}v_{2}}{c^{2}}}
nested_fraction: \gamma = \frac{1}{\sqrt{1 - \frac{v^{2}}{c^{2}}}}
nested_fraction: \frac{\frac{a}{b} + \frac{b}{a}}{2}
nested_fraction: m = \frac{m_{0}}{\sqrt{1 - v^{2}/c^{2}}}
nested_fraction: \frac{1}{1 + \frac{1}{1 + \frac{1}{x}}}
slashed: v = s/t
slashed: (a + b)/2
slashed: 3/4
slashed: e^{-E/kT}
slashed: \lambda/4
slashed: m/M \ll 1
root: T = 2\pi\sqrt{\frac{l}{g}}
root: v = \sqrt{2gh}
root: c = \sqrt{a^{2} + b^{2} - 2ab\cos\gamma}
root: \sqrt[3]{x + 1} - \sqrt[3]{x - 1} = 2
root: \sqrt{ab} \leq \frac{a + b}{2}
root: \frac{1 + \sqrt{5}}{2}
root: \sqrt{3 + 2\sqrt{2}} = 1 + \sqrt{2}
root: d = \sqrt{(x_{1} - x_{2})^{2} + (y_{1} - y_{2})^{2}}
root: \omega = \sqrt{\frac{k}{m}}
root: \sqrt[n]{a_{1}a_{2} \cdots a_{n}}
root: v_{2} = \sqrt{\frac{2GM}{R}}
root: \sqrt{\frac{3}{5}} + \sqrt{\frac{5}{3}}
root: t = \sqrt{\frac{2h}{g}}\left( 1 + \sqrt{2} \right)
big_operator: \sum_{k=1}^{n} k = \frac{n(n+1)}{2}
big_operator: \sum_{k=1}^{n} k^{2} = \frac{n(n+1)(2n+1)}{6}
big_operator: \int_{0}^{\infty} e^{-x^{2}} \, dx = \frac{\sqrt{\pi}}{2}
big_operator: \prod_{i=1}^{n} \left( 1 + \frac{1}{i} \right)
big_operator: \lim_{n \to \infty} \left( 1 + \frac{1}{n} \right)^{n} = e
big_operator: \lim_{x \to 0} \frac{\sin x}{x} = 1
big_operator: \oint \mathbf{B} \cdot d\mathbf{l} = \mu_{0}I
big_operator: W = \int_{V_{1}}^{V_{2}} p \, dV
big_operator: \sum_{i=1}^{n} x_{i} y_{i} \leq \sqrt{\sum_{i=1}^{n} x_{i}^{2}}
big_operator: \sum_{n=1}^{\infty} \frac{1}{n^{2}} = \frac{\pi^{2}}{6}
big_operator: \bigcup_{i=1}^{n} A_{i}
big_operator: \int_{a}^{b} f(x) \, dx
brackets: \left( \frac{a}{b} \right)^{2} - \left( \frac{c}{d} \right)^{2}
brackets: P = P_{0}\left( 1 + \frac{r}{100} \right)^{n}
brackets: \frac{1}{\lambda} = R\left( \frac{1}{n_{1}^{2}} - \frac{1}{n_{2}^{2}} \right)
brackets: \left[ \left( \frac{x}{a} \right)^{2} + 1 \right]
brackets: \left| \frac{z - 1}{z + 1} \right| = 1
brackets: |a + b| \leq |a| + |b|
brackets: \binom{n}{k} = \frac{n!}{k!(n-k)!}
brackets: \left\lfloor \frac{n}{2} \right\rfloor
brackets: \{1, 2, 3, \ldots, n\}
brackets: E = E_{0}\left( \frac{r_{0}}{r} \right)^{12}
brackets: \left( p + \frac{a}{V^{2}} \right)(V - b) = RT
accent: \vec{F} = q\vec{v} \times \vec{B}
accent: \vec{a} + \vec{b} = \vec{c}
accent: \bar{x} = \frac{x_{1} + x_{2}}{2}
accent: \ddot{\theta} + \frac{g}{l}\theta = 0
accent: \dot{x}^{2} + \omega^{2}x^{2} = \mathrm{const}
accent: \hat{n} \cdot \vec{E}
accent: \vec{p} = m\vec{v}
accent: \dot{m} = -\alpha m
lines: \overline{AB} = \overline{CD}
lines: \overline{ab} + \overline{ba} = 11(a + b)
lines: \overrightarrow{AB} = 2\overrightarrow{CD}
lines: \overline{v} = \frac{s}{t}
greek: \alpha + \beta + \gamma = 180^{\circ}
greek: \sin(\alpha + \beta) = \sin\alpha\cos\beta + \cos\alpha\sin\beta
greek: \tan\theta = \mu
greek: \Delta E = h\nu
greek: \eta = 1 - \frac{T_{2}}{T_{1}}
greek: \varphi = \omega t + \varphi_{0}
greek: \Delta S \geq 0
greek: \lambda_{\mathrm{max}}T = b
greek: \sigma = \varepsilon E
greek: \cos 60^{\circ} = \frac{1}{2}
greek: \delta = 23.5^{\circ}
alphabets: f: \mathbb{N} \to \mathbb{N}
alphabets: x \in \mathbb{R} \setminus \{0\}
alphabets: \mathbf{F} = m\mathbf{a}
alphabets: \mathcal{E} = -\frac{d\Phi}{dt}
alphabets: \nabla \times \mathbf{E} = -\frac{\partial \mathbf{B}}{\partial t}
alphabets: \mathcal{P}(A)
alphabets: \hbar = \frac{h}{2\pi}
alphabets: z = x + iy \in \mathbb{C}
relations: a \equiv b \pmod{m}
relations: x \neq 0
relations: 0 < x < 1
relations: a \geq b \geq c > 0
relations: A \cup B = A \cap B
relations: v \ll c
relations: AB \perp BC
relations: a \approx 3.14
relations: x_{1}, x_{2}, \ldots, x_{n}
relations: 1 + 2 + \cdots + n
relations: \triangle ABC \cong \triangle A'B'C'
relations: n = 2, 3, 5
relations: m \mid n
arrows: x \to 0^{+}
arrows: p \Rightarrow q
arrows: A \Leftrightarrow B
arrows: x \mapsto x^{2} + 1
primes: f'(x) = 3x^{2}
primes: y'' + y = 0
primes: \triangle A'B'C'
primes: f'(0) = f''(0) = 0
left_scripts: {}_{92}^{238}\mathrm{U} \to {}_{90}^{234}\mathrm{Th} + {}_{2}^{4}\mathrm{He}
left_scripts: {}^{14}\mathrm{C}
left_scripts: {}_{0}^{1}\mathrm{n} + {}_{92}^{235}\mathrm{U}
left_scripts: {}_{-1}^{0}\mathrm{e}
units: g = 9.81\,\mathrm{m/s^{2}}
units: R = 8.314\,\mathrm{J\,mol^{-1}\,K^{-1}}
units: \rho = 1000\,\mathrm{kg\,m^{-3}}
units: v = 72\,\mathrm{km/h}
units: t = 25^{\circ}\mathrm{C}
units: 50\,\Omega
units: H_{0} = 70\,\mathrm{km\,s^{-1}\,Mpc^{-1}}
units: 1.5\,\mu\mathrm{F}
scientific: c = 3.00 \times 10^{8}\,\mathrm{m\,s^{-1}}
scientific: N_{A} = 6.02 \times 10^{23}\,\mathrm{mol^{-1}}
scientific: e = 1.6 \times 10^{-19}\,\mathrm{C}
scientific: G = 6.67 \times 10^{-11}\,\mathrm{N\,m^{2}\,kg^{-2}}
scientific: 1.99 \times 10^{30}\,\mathrm{kg}
scientific: K_{a} = 1.8 \times 10^{-5}
chemistry: K_{c} = \frac{[\ce{NH3}]^{2}}{[\ce{N2}][\ce{H2}]^{3}}
chemistry: \ce{2H2O2 -> 2H2O + O2}
chemistry: \ce{Ag+ + Cl- -> AgCl}
chemistry: \ce{CH3COOH <=> CH3COO- + H+}
chemistry: \ce{Cr2O7^2- + 14H+ + 6e- -> 2Cr^3+ + 7H2O}
chemistry: \ce{C3H8 + 5O2 -> 3CO2 + 4H2O}
chemistry: \ce{[Co(NH3)6]^3+}
chemistry: c(\ce{H+}) = 0.1\,\mathrm{mol/L}
chemistry: \mathrm{pH} = -\log[\ce{H+}]
chemistry: \ce{SO3^2-}
chemistry: \Delta_{r}G = \Delta_{r}H - T\Delta_{r}S
matrix: A = \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}
matrix: \begin{vmatrix} a & b \\ c & d \end{vmatrix} = ad - bc
matrix: \begin{pmatrix} \cos\theta & -\sin\theta \\ \sin\theta & \cos\theta \end{pmatrix}
matrix: \begin{bmatrix} 1 & 0 & 0 \\ 0 & 1 & 0 \\ 0 & 0 & 1 \end{bmatrix}
matrix: \begin{pmatrix} x' \\ y' \end{pmatrix} = \begin{pmatrix} a & b \\ c & d \end{pmatrix} \begin{pmatrix} x \\ y \end{pmatrix}
cases: |x| = \begin{cases} x & x \geq 0 \\ -x & x < 0 \end{cases}
cases: \begin{cases} x + y = 5 \\ xy = 6 \end{cases}
cases: \begin{cases} x^{2} + y^{2} = 25 \\ x - y = 1 \end{cases}
cases: a_{n+1} = \begin{cases} \frac{a_{n}}{2} & \text{if } a_{n} \text{ is even} \\ 3a_{n} + 1 & \text{otherwise} \end{cases}
aligned: \begin{aligned} x &= v_{0}t\cos\alpha \\ y &= v_{0}t\sin\alpha - \frac{1}{2}gt^{2} \end{aligned}
aligned: \begin{aligned} (a + b)^{2} &= a^{2} + 2ab + b^{2} \\ (a - b)^{2} &= a^{2} - 2ab + b^{2} \end{aligned}
aligned: \begin{aligned} S_{n} &= 1 + 2 + \cdots + n \\ &= \frac{n(n + 1)}{2} \end{aligned}
"""


def read_table() -> dict[str, list[str]]:
    """The formulas by kind."""
    formulas: dict[str, list[str]] = {}
    for line in _TABLE.strip().splitlines():
        kind, _, latex = line.partition(": ")
        formulas.setdefault(kind, []).append(latex)
    return formulas
