CREATE TABLE `processes` (
	`id` text PRIMARY KEY NOT NULL,
	`beat_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `authorizations` ADD `claimed_by` text;--> statement-breakpoint
CREATE INDEX `authorizations_claimed` ON `authorizations` (`claimed_by`) WHERE status = 'exchanging';--> statement-breakpoint
CREATE INDEX `authorizations_held` ON `authorizations` (`deadline`) WHERE response is not null;