ALTER TABLE `answers` ADD `claimed_by` text;--> statement-breakpoint
ALTER TABLE `answers` ADD `begun` text;