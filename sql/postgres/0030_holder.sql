-- Counts who held this database: one that lost its lock knows by it whether another was here meanwhile.

create sequence holder_epoch;
