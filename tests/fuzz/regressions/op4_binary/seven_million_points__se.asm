BEGIN SUPER      101
SPOINT      9001
EXTRN         11  123456      19  123456    9001    THRU 7483648*                     0.               0
GRID*                 19                             0.5            0.25
SPOINT      9001
SPOINT      90*INCLUDE, INPUT=job.inp
01
SPOINT      9002SPOINT      9002
SPOINT      9003
SPOINT      9004
